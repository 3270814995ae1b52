// What the words of the field mean, in one sentence each, for the screens where people meet them first.

export const journeyMeaning =
  'A journey is a path that your customers take, for example Onboarding, with steps that they reach one after the other.'

export const customerMeaning =
  'A customer is a contact, which is a person, or an account, which is a company.'

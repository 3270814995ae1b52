// Definitions of the domain's terms, in one sentence each, for the screens where people first see them.

export const journeyMeaning =
  'A journey is a funnel: a path that your customers take, for example Onboarding, with steps in order.'

export const customerMeaning = 'A customer is a contact (a person) or an account (a company).'

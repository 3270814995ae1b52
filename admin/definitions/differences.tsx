import { List, Text } from '@mantine/core'
import type { Schemas } from '../../client/person.ts'
import { isolated } from '../parts/visible-name.ts'
import { pointerText } from './value-words.ts'

type Change = Pick<Schemas['EventDefinitionChange'], 'senders' | 'readers' | 'changes'>

const verdicts: Record<Schemas['DefinitionVerdict'], string> = {
  none: 'no change',
  additive: 'additive',
  breaking: 'breaking',
}

/** Whether programs that send or read the events may no longer work as they did. */
export function isBreaking({ senders, readers }: Pick<Change, 'senders' | 'readers'>): boolean {
  return senders === 'breaking' || readers === 'breaking'
}

/** What a change means for programs that send the events, and for those that read them. */
export function verdictText({ senders, readers }: Pick<Change, 'senders' | 'readers'>): string {
  if (senders === readers) return `For senders and readers: ${verdicts[senders]}.`
  return `For senders: ${verdicts[senders]}. For readers: ${verdicts[readers]}.`
}

/** The differences between a revision and the one before. */
export function Differences({ changes }: Pick<Change, 'changes'>) {
  if (changes.length === 0) return null
  return (
    <List size="sm">
      {changes.map(({ pointer, change, senders, readers, detail }) => (
        <List.Item key={`${pointer} ${change}`} className="breakable">
          <Text span inherit ff="monospace">
            {pointerText(pointer) || 'custom_variables'}
          </Text>{' '}
          {isolated(detail)}
          {isBreaking({ senders, readers }) && (
            <strong>
              {' '}
              (breaking for {senders === 'breaking' ? 'senders' : ''}
              {senders === readers ? ' and ' : ''}
              {readers === 'breaking' ? 'readers' : ''})
            </strong>
          )}
        </List.Item>
      ))}
    </List>
  )
}

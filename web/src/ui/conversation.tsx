import type { Context } from '../app/history';
import { RichText } from './rich_text';

/** What was said before the question. */
export function Conversation({ system, turns }: Context) {
  if (system === '' && turns.length === 0) return null;
  const rounds = turns.filter(({ role }) => role === 'user').length;
  return (
    <details class="conversation">
      <summary>
        {[
          rounds > 0 ? `${rounds} earlier ${rounds === 1 ? 'question' : 'questions'}` : '',
          system === '' ? '' : 'instructions',
        ]
          .filter((part) => part !== '')
          .join(', ')}
      </summary>
      <ol class="turns">
        {system !== '' && (
          <li class="turn system">
            <span class="label">Instructions</span>
            <div class="text-block">{system}</div>
          </li>
        )}
        {turns.map(({ role, content }, i) => (
          <li key={i} class={`turn ${role}`}>
            <span class="label">{role === 'user' ? 'You' : 'Model'}</span>
            {role === 'user' ? <div class="text-block">{content}</div> : <RichText text={content} />}
          </li>
        ))}
      </ol>
    </details>
  );
}

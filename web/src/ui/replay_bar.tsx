import { kSpeeds, type Replaying } from '../app/replaying';
import { formatCount } from '../draw/words';
import { useChanges } from './hooks';

interface Props {
  replay: Replaying;
  onSave(): void; // as a film
  onClose(): void;
}

/** The time slider. */
export function ReplayBar({ replay, onSave, onClose }: Props) {
  useChanges(replay.changes, 60);
  const { step, steps, playing, speed, ownSpeed } = replay;
  const own = Number.isFinite(ownSpeed) && ownSpeed > 0 ? Math.max(1, Math.round(ownSpeed)) : null;
  const speeds = [...new Set([...kSpeeds, ...(own === null ? [] : [own])])].sort((a, b) => a - b);
  return (
    <div class="replay" role="group" aria-label="Replay">
      <button type="button" onClick={() => (playing ? replay.pause() : replay.play())}>
        {playing ? 'Pause' : 'Play'}
      </button>
      <input
        type="range"
        aria-label="Time"
        min={0}
        max={steps}
        value={step}
        aria-valuetext={`Step ${formatCount(step)} of ${formatCount(steps)}`}
        onInput={(event) => {
          replay.pause();
          replay.seek(Number(event.currentTarget.value));
        }}
      />
      <span class="hint replay-step">
        {formatCount(step)} of {formatCount(steps)} steps
      </span>
      <label class="replay-speed">
        <span class="label">Speed</span>
        <select value={String(speed)} onChange={(event) => (replay.speed = Number(event.currentTarget.value))}>
          {speeds.map((value) => (
            <option key={value} value={String(value)}>
              {formatCount(value)} {value === 1 ? 'step' : 'steps'}/s{value === own ? ', as it ran' : ''}
            </option>
          ))}
        </select>
      </label>
      <button type="button" onClick={onSave} title="An SVG file that plays at this speed, in any browser">
        Save as film
      </button>
      <button type="button" onClick={onClose}>
        Close
      </button>
    </div>
  );
}

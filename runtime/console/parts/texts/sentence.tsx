import type { ComponentChildren } from "preact";

import { Breaking } from "./shown.tsx";
import { StateBadge, type Tone } from "./state-badge.tsx";

/** What something does now, in one sentence, first on its page. */
export function Sentence({
  tone,
  state,
  children,
}: {
  readonly tone: Tone;
  /** One or two words. */
  readonly state: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="sentence">
      <StateBadge tone={tone}>{state}</StateBadge>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
}

/** A fact and its name. */
export type FactRow = readonly [name: string, value: ComponentChildren];

export function fact(name: string, value: ComponentChildren): FactRow {
  return [name, value];
}

/** Facts by name. */
export function Facts({ rows }: { readonly rows: readonly FactRow[] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>
            <Breaking text={name} />
          </dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Figures in a row, the same wherever they stand. */
export function Figures({
  rows,
}: {
  readonly rows: readonly { readonly name: string; readonly value: ComponentChildren; readonly tone?: Tone }[];
}) {
  return (
    <dl class="figures">
      {rows.map(({ name, value, tone }) => (
        <div key={name} class={tone === undefined ? "" : `tone-${tone}`}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

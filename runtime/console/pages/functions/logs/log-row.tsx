import { Component } from "preact";

import { clockTime } from "../../../data/time/time-words.ts";
import { Shown } from "../../../parts/texts/shown.tsx";
import type { ShownLine } from "./log-line.ts";

export interface LogLineRowProps {
  readonly line: ShownLine;
  /** What is marked in it. */
  readonly find: string;
  /** Address of the page, to which the name of a line is added. */
  readonly here: string;
  readonly zone: string | undefined;
}

/** What stands in a line of a log. It is made anew when it shows something else, not when other lines come. */
export class LogLineRow extends Component<LogLineRowProps> {
  override shouldComponentUpdate({ line, find, here, zone }: Readonly<LogLineRowProps>): boolean {
    const { props } = this;
    return line !== props.line || find !== props.find || here !== props.here || zone !== props.zone;
  }

  override render({ line, find, here, zone }: LogLineRowProps) {
    const { instance, timestamp, stream } = line.record;
    return (
      <>
        <a class="log-time" href={`${here}#${encodeURIComponent(line.key)}`} title={timestamp}>
          {clockTime(Date.parse(timestamp), zone)}
        </a>
        <span class="log-replica" title={instance}>
          <Shown text={instance} />
        </span>
        {stream === "stderr" && <span class="hidden">standard error</span>}
        <span class="log-text" dir="auto">
          {line.runs.map((run, at) => (
            <span key={at} class={run.classes}>
              <Marked text={run.text} find={find} />
            </span>
          ))}
        </span>
      </>
    );
  }
}

/** A text in which what was looked for is marked. */
function Marked({ text, find }: { readonly text: string; readonly find: string }) {
  if (find === "") return <Shown text={text} />;
  const parts: { readonly text: string; readonly isFound: boolean }[] = [];
  const [small, wanted] = [text.toLowerCase(), find.toLowerCase()];
  let from = 0;
  for (let at = small.indexOf(wanted); at !== -1; at = small.indexOf(wanted, from)) {
    parts.push(
      { text: text.slice(from, at), isFound: false },
      { text: text.slice(at, at + wanted.length), isFound: true },
    );
    from = at + wanted.length;
  }
  parts.push({ text: text.slice(from), isFound: false });
  return (
    <>
      {parts.map((part, index) =>
        part.text === "" ? null : part.isFound ? (
          <mark key={index}>
            <Shown text={part.text} />
          </mark>
        ) : (
          <Shown key={index} text={part.text} />
        ),
      )}
    </>
  );
}

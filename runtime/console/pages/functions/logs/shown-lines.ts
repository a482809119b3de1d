import { signal, type ReadonlySignal } from "@preact/signals";

import type { LogRecord } from "../../../../api/schemas/log-record.ts";
import { shownLine, type ShownLine } from "./log-line.ts";

/** Most lines that a page keeps, and how many go at once when there are more. */
const mostLines = 20_000;
const droppedAtOnce = 2_000;

/** The lines of a log that the page has, in the order of their time, none of them twice. */
export class ShownLines {
  readonly #lines = signal<readonly ShownLine[]>([]);
  /** Texts of the lines by time and replica. */
  readonly #known = new Map<string, string[]>();
  readonly #dropped = signal(0);

  get lines(): ReadonlySignal<readonly ShownLine[]> {
    return this.#lines;
  }

  /** Lines that did not fit any more, the oldest. */
  get dropped(): ReadonlySignal<number> {
    return this.#dropped;
  }

  /** Adds records, as far as they are not there. */
  add(records: readonly LogRecord[]): void {
    const added = records.flatMap((record) => this.#fresh(record));
    if (added.length === 0) return;
    const before = this.#lines.peek();
    const last = before.at(-1);
    const first = added[0];
    const isNewer = last === undefined || first === undefined || order(last, first) <= 0;
    const all = isNewer ? [...before, ...added.sort(order)] : [...before, ...added].sort(order);
    const over = all.length > mostLines ? all.length - mostLines + droppedAtOnce : 0;
    for (const { record } of all.slice(0, over)) this.#known.delete(placeOf(record));
    this.#dropped.value += over;
    this.#lines.value = over === 0 ? all : all.slice(over);
  }

  clear(): void {
    this.#known.clear();
    this.#lines.value = [];
    this.#dropped.value = 0;
  }

  #fresh(record: LogRecord): readonly ShownLine[] {
    const place = placeOf(record);
    const texts = this.#known.get(place) ?? [];
    if (texts.includes(record.text)) return [];
    this.#known.set(place, [...texts, record.text]);
    return [shownLine(record, texts.length)];
  }
}

function placeOf({ timestamp, instance }: LogRecord): string {
  return `${timestamp} ${instance}`;
}

/** By time, then as they came. */
function order({ record: one }: ShownLine, { record: other }: ShownLine): number {
  if (one.timestamp === other.timestamp) return 0;
  return one.timestamp < other.timestamp ? -1 : 1;
}

/** The lines that a page shows. */
export function narrowLines(
  lines: readonly ShownLine[],
  { replica, text }: { readonly replica: string; readonly text: string },
): readonly ShownLine[] {
  if (replica === "" && text === "") return lines;
  const wanted = text.toLowerCase();
  return lines.filter(({ record, plain }) => (replica === "" || record.instance === replica) && plain.includes(wanted));
}

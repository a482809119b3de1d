import { Session, type Profiler } from "node:inspector";

/** Which characters of which functions ran, one byte per character; keys tell functions apart. */
export type Covered = ReadonlyMap<string, Uint8Array>;

/**
 * Block coverage of this thread by V8 itself, without changing any code. Only code that is loaded after `start` is
 * covered block by block.
 */
export class Coverage {
  readonly #session = new Session();
  readonly #part: string;
  readonly #ever = new Map<string, Uint8Array>();

  /** Covers scripts whose URL contains `part`. */
  constructor(part: string) {
    this.#part = part;
  }

  start(): void {
    this.#session.connect();
    this.#session.post("Profiler.enable");
    this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  close(): void {
    this.#session.disconnect();
  }

  /** The code that ran since the last call. */
  take(): Covered {
    const covered = new Map<string, Uint8Array>();
    this.#session.post("Profiler.takePreciseCoverage", (err, response) => {
      if (err !== null) throw err;
      for (const { url, functions } of response.result) {
        if (!url.includes(this.#part)) continue;
        for (const each of functions) addFunction(covered, url, each);
      }
    });
    return covered;
  }

  /** Whether `covered` contains code that never ran before. */
  isNew(covered: Covered): boolean {
    for (const [key, now] of covered) {
      const ever = this.#ever.get(key);
      if (ever === undefined || now.some((ran, at) => ran === 1 && ever[at] !== 1)) return true;
    }
    return false;
  }

  /** From now on, `covered` does not count as new. */
  add(covered: Covered): void {
    for (const [key, now] of covered) {
      const ever = this.#ever.get(key);
      if (ever === undefined) this.#ever.set(key, now);
      else now.forEach((ran, at) => (ever[at] = (ever[at] ?? 0) | ran));
    }
  }
}

/** Ranges are outermost first, so later ones correct earlier ones. */
function addFunction(covered: Map<string, Uint8Array>, url: string, { ranges }: Profiler.FunctionCoverage): void {
  const [whole] = ranges;
  if (whole === undefined || whole.count === 0) return;
  const ran = new Uint8Array(whole.endOffset - whole.startOffset);
  for (const { startOffset, endOffset, count } of ranges) {
    ran.fill(count > 0 ? 1 : 0, startOffset - whole.startOffset, endOffset - whole.startOffset);
  }
  covered.set(`${url}:${whole.startOffset}`, ran);
}

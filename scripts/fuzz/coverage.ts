import { Session, type Profiler } from "node:inspector";

/** Which characters of which functions ran, one byte per character; keys tell functions apart. */
export type Covered = ReadonlyMap<string, Uint8Array>;

/**
 * Block coverage of this thread by V8 itself, without changing any code. Only what is loaded after `start` is seen block
 * by block.
 */
export class Coverage {
  readonly #session = new Session();
  readonly #part: string;
  readonly #ever = new Map<string, Uint8Array>();

  /** Looks at scripts whose address contains `part`. */
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

  /** What ran since the last time. */
  take(): Covered {
    const covered = new Map<string, Uint8Array>();
    this.#session.post("Profiler.takePreciseCoverage", (err, answer) => {
      if (err !== null) throw err;
      for (const { url, functions } of answer.result) {
        if (!url.includes(this.#part)) continue;
        for (const each of functions) addFunction(covered, url, each);
      }
    });
    return covered;
  }

  /** Whether something in `covered` never ran before. */
  isNew(covered: Covered): boolean {
    for (const [key, now] of covered) {
      const ever = this.#ever.get(key);
      if (ever === undefined || now.some((ran, at) => ran === 1 && ever[at] !== 1)) return true;
    }
    return false;
  }

  /** From now on `covered` is nothing new. */
  add(covered: Covered): void {
    for (const [key, now] of covered) {
      const ever = this.#ever.get(key);
      if (ever === undefined) this.#ever.set(key, now);
      else now.forEach((ran, at) => (ever[at] = (ever[at] ?? 0) | ran));
    }
  }
}

/** Ranges come outermost first, so that the later ones correct the ones before. */
function addFunction(covered: Map<string, Uint8Array>, url: string, { ranges }: Profiler.FunctionCoverage): void {
  const [whole] = ranges;
  if (whole === undefined || whole.count === 0) return;
  const ran = new Uint8Array(whole.endOffset - whole.startOffset);
  for (const { startOffset, endOffset, count } of ranges) {
    ran.fill(count > 0 ? 1 : 0, startOffset - whole.startOffset, endOffset - whole.startOffset);
  }
  covered.set(`${url}:${whole.startOffset}`, ran);
}

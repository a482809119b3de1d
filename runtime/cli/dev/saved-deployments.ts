/** Does one thing for each function at a time; what is asked meanwhile supersedes it. */
export class SavedDeployments {
  readonly #deploy: (name: string, superseded: AbortSignal) => Promise<void>;
  readonly #onDefect: (err: unknown) => void;
  readonly #latest = new Map<string, { readonly abort: AbortController; readonly done: Promise<void> }>();

  /** @param onDefect gets what `deploy` rejects with, unless it was superseded */
  constructor(deploy: (name: string, superseded: AbortSignal) => Promise<void>, onDefect: (err: unknown) => void) {
    this.#deploy = deploy;
    this.#onDefect = onDefect;
  }

  /** Deploys it as soon as what is under way for it has ended, which is told to. */
  start(name: string): void {
    const before = this.#latest.get(name);
    before?.abort.abort();
    const abort = new AbortController();
    const run = async (): Promise<void> => {
      await before?.done;
      if (!abort.signal.aborted) await this.#deploy(name, abort.signal);
    };
    const done = run().catch(this.#onDefect);
    this.#latest.set(name, { abort, done });
  }
}

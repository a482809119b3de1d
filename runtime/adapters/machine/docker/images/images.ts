import { PlatformError } from "../../../../api/platform-error.ts";
import type { EngineClient } from "../engine/engine-client.ts";
import type { ImageDocument, PullLine } from "../engine/engine-types.ts";
import { checkImage, pullQuery } from "./image-reference.ts";
import { jsonLines } from "../engine/json-lines.ts";
import { PullProgress } from "./pull-progress.ts";
import { StartFailure } from "../containers/start-failure.ts";

/** Receives the progress of an image's pull, in a few words; at most once a second. */
export type PullListener = (words: string) => void;

interface Pull {
  readonly ended: Promise<void>;
  readonly listeners: Set<PullListener>;
}

const reportInterval = 1_000;

/** Resolves image references: images that are present are used, others are pulled, each by one pull at a time. */
export class Images {
  readonly #engine: EngineClient;
  readonly #pulls = new Map<string, Pull>();
  /** Failed pulls in a row. */
  readonly #failures = new Map<string, number>();
  readonly #closed = new AbortController();

  constructor(engine: EngineClient) {
    this.#engine = engine;
  }

  /**
   * The id of the image, which stays valid when the reference changes.
   * @throws StartFailure `InvalidImageName`; `ErrImagePull`, or `ImagePullBackOff` after an earlier failure, with the
   * engine's message
   */
  async resolve(image: string, listener: PullListener): Promise<string> {
    const found = await this.#find(checkImage(image));
    if (found !== undefined) return found;
    await this.#pull(image, listener);
    const pulled = await this.#find(image);
    if (pulled !== undefined) return pulled;
    throw new StartFailure("ErrImagePull", `Cannot use image "${image}": it disappeared after the pull`);
  }

  /** Whether the image with this id is still there. */
  async has(id: string): Promise<boolean> {
    return (await this.#find(id)) !== undefined;
  }

  /** Ends all pulls. */
  close(): void {
    this.#closed.abort();
  }

  async #find(reference: string): Promise<string | undefined> {
    const { body } = await this.#engine.call<ImageDocument>("GET", `/images/${reference}/json`, { expected: [404] });
    return body?.Id;
  }

  async #pull(image: string, listener: PullListener): Promise<void> {
    let pull = this.#pulls.get(image);
    if (pull === undefined) {
      const listeners = new Set<PullListener>();
      const report: PullListener = (words) => {
        for (const each of listeners) each(words);
      };
      pull = { listeners, ended: this.#run(image, report).finally(() => this.#pulls.delete(image)) };
      this.#pulls.set(image, pull);
    }
    pull.listeners.add(listener);
    try {
      await pull.ended;
    } finally {
      pull.listeners.delete(listener);
    }
  }

  async #run(image: string, report: PullListener): Promise<void> {
    // In the same turn there is no listener yet.
    await Promise.resolve();
    try {
      report("");
      await this.#fetch(image, report);
      this.#failures.delete(image);
    } catch (err) {
      if (err instanceof PlatformError && err.code === "provider_unavailable") throw err;
      const failures = (this.#failures.get(image) ?? 0) + 1;
      this.#failures.set(image, failures);
      const words = err instanceof Error ? err.message : String(err);
      const reason = failures === 1 ? "ErrImagePull" : "ImagePullBackOff";
      throw new StartFailure(reason, `Cannot pull image "${image}": ${words}`, { cause: err });
    }
  }

  async #fetch(image: string, report: PullListener): Promise<void> {
    const { signal } = this.#closed;
    const query = { ...pullQuery(image) };
    const lines = await this.#engine.stream("POST", "/images/create", { query, timeout: 0, signal });
    const progress = new PullProgress();
    let reportedAt = Date.now();
    for await (const line of jsonLines(lines)) {
      const progressLine = line as PullLine;
      if (progressLine.error !== undefined) throw new Error(progressLine.error);
      progress.add(progressLine);
      if (Date.now() - reportedAt < reportInterval) continue;
      reportedAt = Date.now();
      report(progress.text());
    }
  }
}

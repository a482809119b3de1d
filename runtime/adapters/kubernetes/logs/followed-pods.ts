/** A pod, and whether its log is followed. */
export interface FollowedPod {
  /** Unix milliseconds of its container's last start. */
  startedAt: number;
  /** When the container before that ended, RFC 3339. */
  endedAt: string | undefined;
  /** Unix milliseconds; 0 = not seen. */
  calledAt: number;
  isFollowed: boolean;
  /** Aborts when `isFollowed` changes, and when the pod is gone. */
  over: AbortController;
  /** Its log said that it is not followed. */
  isNoted: boolean;
  /** `endedAt` of the last one whose end was read. */
  readEnd: string | undefined;
}

/** Milliseconds by which another pod must be newer to displace a followed one: a stream is not opened for a moment. */
const preference = 60_000;
/** Milliseconds between two looks at which pods are followed, while there are too many. */
const usualPeriod = 1_000;

/** Which pods are followed: of more than `max`, those whose containers started, or were called, last. */
export class FollowedPods {
  readonly max: number;
  readonly #period: number;
  readonly #pods = new Map<string, FollowedPod>();
  #followed = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `period` is in milliseconds (1 s). */
  constructor(max: number, period: number = usualPeriod) {
    this.max = max;
    this.#period = period;
  }

  /** By `namespace/name`. */
  find(key: string): FollowedPod | undefined {
    return this.#pods.get(key);
  }

  set(key: string, { startedAt, endedAt }: Pick<FollowedPod, "startedAt" | "endedAt">): void {
    const known = this.#pods.get(key);
    if (known !== undefined) {
      known.startedAt = startedAt;
      known.endedAt = endedAt;
    } else {
      const isFollowed = this.#followed < this.max;
      if (isFollowed) this.#followed += 1;
      const over = new AbortController();
      const state = { startedAt, endedAt, calledAt: 0, isFollowed, over, isNoted: false, readEnd: undefined };
      this.#pods.set(key, state);
    }
    this.#look();
  }

  remove(key: string): void {
    const known = this.#pods.get(key);
    if (known === undefined) return;
    this.#pods.delete(key);
    if (known.isFollowed) this.#followed -= 1;
    known.over.abort();
    this.#look();
  }

  /** Its function was called at `at`, Unix milliseconds. */
  called(key: string, at: number): void {
    const known = this.#pods.get(key);
    if (known === undefined || known.calledAt >= at) return;
    known.calledAt = at;
    this.#look();
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const { over } of this.#pods.values()) over.abort();
    this.#pods.clear();
  }

  /** Chooses anew, a moment later: changes come in numbers. */
  #look(): void {
    if (this.#pods.size <= this.#followed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#choose();
    }, this.#period).unref();
  }

  #choose(): void {
    const ranked = [...this.#pods.values()].sort((one, other) => rankOf(other) - rankOf(one));
    for (const [index, pod] of ranked.entries()) {
      const isFollowed = index < this.max;
      if (pod.isFollowed === isFollowed) continue;
      const { over } = pod;
      pod.isFollowed = isFollowed;
      pod.over = new AbortController();
      over.abort();
    }
    this.#followed = Math.min(ranked.length, this.max);
  }
}

function rankOf({ startedAt, calledAt, isFollowed }: FollowedPod): number {
  return Math.max(startedAt, calledAt) + (isFollowed ? preference : 0);
}

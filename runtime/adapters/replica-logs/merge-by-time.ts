/** A value with a timestamp: RFC 3339 with nanoseconds, UTC, so that times compare as text. */
interface Timed {
  readonly timestamp: string;
}

interface Head<T> {
  readonly iterator: AsyncIterator<T>;
  value: T;
}

/**
 * Merges finite sequences, each in order of time, into one in order of time; on equal times the earlier sequence comes
 * first. Buffers one value per sequence. Rejects when a sequence does.
 */
export async function* mergeByTime<T extends Timed>(sequences: readonly AsyncIterable<T>[]): AsyncGenerator<T> {
  const iterators = sequences.map((sequence) => sequence[Symbol.asyncIterator]());
  try {
    let heads = (await Promise.all(iterators.map(firstOf))).filter((head) => head !== undefined);
    for (let head = earliest(heads); head !== undefined; head = earliest(heads)) {
      yield head.value;
      const next = await head.iterator.next();
      if (next.done === true) heads = heads.filter((other) => other !== head);
      else head.value = next.value;
    }
  } finally {
    for (const iterator of iterators) void iterator.return?.().catch(() => {});
  }
}

async function firstOf<T>(iterator: AsyncIterator<T>): Promise<Head<T> | undefined> {
  const first = await iterator.next();
  return first.done === true ? undefined : { iterator, value: first.value };
}

function earliest<T extends Timed>(heads: readonly Head<T>[]): Head<T> | undefined {
  let found = heads[0];
  for (const head of heads) {
    if (found !== undefined && head.value.timestamp < found.value.timestamp) found = head;
  }
  return found;
}

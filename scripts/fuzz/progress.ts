/** Which input is running, visible to another thread even when this one is blocked. */
export interface Progress {
  note(input: Uint8Array): void;
  /** Changes with every input. */
  count(): number;
  /** The input noted last. */
  input(): Uint8Array;
}

const headBytes = 8;
const maxBytes = 4_194_304;

/** Memory for `progressOf`. */
export function progressMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(headBytes + maxBytes);
}

/** Both threads make one on the same memory. */
export function progressOf(shared: SharedArrayBuffer): Progress {
  const head = new Int32Array(shared, 0, 2);
  const bytes = new Uint8Array(shared, headBytes);
  return {
    note: (input) => {
      const noted = input.subarray(0, maxBytes);
      bytes.set(noted);
      head[1] = noted.length;
      Atomics.add(head, 0, 1);
    },
    count: () => Atomics.load(head, 0),
    input: () => bytes.slice(0, head[1]),
  };
}

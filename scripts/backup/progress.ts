const period = 2_000;

/** Bytes as text for people. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Receives the bytes of each step of a long operation and reports the progress every two seconds. */
export function progressOf(name: string, say: (line: string) => void): (bytes: number) => void {
  let done = 0;
  let reportedAt = performance.now();
  return (bytes) => {
    done += bytes;
    if (performance.now() - reportedAt < period) return;
    reportedAt = performance.now();
    say(`${name}: ${megabytes(done)} so far`);
  };
}

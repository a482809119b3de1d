const period = 2_000;

/** Bytes for people. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Takes the bytes of each step of a long work and says every two seconds how far it is. */
export function progressOf(name: string, say: (line: string) => void): (bytes: number) => void {
  let done = 0;
  let said = performance.now();
  return (bytes) => {
    done += bytes;
    if (performance.now() - said < period) return;
    said = performance.now();
    say(`${name}: ${megabytes(done)} so far`);
  };
}

/**
 * Runs `act` while the lease is acquired again every `period` milliseconds; the signal it gets aborts with `stop`, or
 * when the lease went to somebody else.
 */
export async function keptLease(
  acquire: () => Promise<boolean>,
  period: number,
  stop: AbortSignal,
  act: (stop: AbortSignal) => Promise<void>,
): Promise<void> {
  const lost = new AbortController();
  const timer = setInterval(() => {
    acquire().then(
      (ours) => {
        if (!ours) lost.abort();
      },
      // Nobody can take it either while the broker does not answer.
      () => {},
    );
  }, period);
  try {
    await act(AbortSignal.any([stop, lost.signal]));
  } finally {
    clearInterval(timer);
  }
}

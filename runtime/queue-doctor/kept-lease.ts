/**
 * Runs `act` while the lease is renewed every `period` milliseconds. The signal that `act` gets aborts with `stop`, or
 * when another holder has the lease.
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
      // While the broker does not reply, no other holder can acquire it either.
      () => {},
    );
  }, period);
  try {
    await act(AbortSignal.any([stop, lost.signal]));
  } finally {
    clearInterval(timer);
  }
}

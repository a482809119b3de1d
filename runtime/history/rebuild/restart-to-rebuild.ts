/** Milliseconds in which the reply to who asked for it is sent. */
const replyTime = 200;

/** Notes that the history is filled anew when it is opened next, and ends this process for that. */
export function restartToRebuild(request: () => Promise<void>, stopNow: () => void): () => Promise<void> {
  return async () => {
    await request();
    setTimeout(stopNow, replyTime);
  };
}

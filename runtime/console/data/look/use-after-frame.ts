import { useSignal, useSignalEffect, type ReadonlySignal } from "@preact/signals";

import { browserFrames, type FrameRequests } from "./frame-requests.ts";

/** Acts once the next frame is painted, unless the returned function is called before. */
export function afterFrame(act: () => void, frames: FrameRequests = browserFrames): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const frame = frames.request(() => (timer = setTimeout(act)));
  return () => {
    frames.cancel(frame);
    clearTimeout(timer);
  };
}

/** Follows a signal once the next frame is painted: what answers a press comes before what takes longer. */
export function useAfterFrame<Value>(source: ReadonlySignal<Value>): ReadonlySignal<Value> {
  const followed = useSignal(source.peek());
  useSignalEffect(() => {
    const { value } = source;
    return value === followed.peek() ? undefined : afterFrame(() => (followed.value = value));
  });
  return followed;
}

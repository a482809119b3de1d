import { useSignal, useSignalEffect, type ReadonlySignal } from "@preact/signals";

/** What asks a browser for frames. */
export interface FrameRequests {
  readonly request: (callback: () => void) => number;
  readonly cancel: (handle: number) => void;
}

const ofBrowser: FrameRequests = {
  request: (callback) => requestAnimationFrame(callback),
  cancel: (handle) => cancelAnimationFrame(handle),
};

/** Acts once the next frame is painted, unless the returned function is called before. */
export function afterFrame(act: () => void, frames: FrameRequests = ofBrowser): () => void {
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

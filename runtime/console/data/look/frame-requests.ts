/** What asks a browser for frames. */
export interface FrameRequests {
  /** Calls back in the next frame, with when it began; milliseconds as of `performance.now()`. */
  readonly request: (callback: (begun: number) => void) => number;
  readonly cancel: (handle: number) => void;
}

export const browserFrames: FrameRequests = {
  request: (callback) => requestAnimationFrame(callback),
  cancel: (handle) => cancelAnimationFrame(handle),
};

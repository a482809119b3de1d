/** What the page's stream does. */
export type StreamState =
  /** Nobody on this page asks for anything, or nobody looks at it. */
  | { readonly kind: "closed" }
  | { readonly kind: "opening" }
  | { readonly kind: "open"; readonly since: number }
  /** `since`: when it broke, milliseconds since 1970. */
  | { readonly kind: "broken"; readonly since: number }
  /** Too many streams are open: the page asks for its lists instead. */
  | { readonly kind: "full"; readonly sentence: string }
  /** The sender may not watch one of the topics. */
  | { readonly kind: "refused"; readonly sentence: string };

/** Who hears of a topic. */
export interface TopicListener {
  /** `data` is the event's JSON. */
  event(name: string, data: unknown): void;
  /** The topic cannot be shown for now. */
  fault?(code: string, sentence: string): void;
  /** What the page asks instead while too many streams are open; its reply becomes an event. */
  poll?(stop: AbortSignal): Promise<void>;
}

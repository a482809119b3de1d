import { signal, type ReadonlySignal } from "@preact/signals";

/** Keys that do something: `/`, `?`, or two after each other as in `g f`. */
export interface Shortcut {
  readonly keys: string;
  readonly what: string;
  readonly act: () => void;
}

/** Time for the second key, milliseconds. */
const pauseBetween = 1_500;

/** The shortcuts of the page; none counts inside a field, with a modifier, or while a dialog is open. */
export class Shortcuts {
  readonly #list = signal<readonly Shortcut[]>([]);
  readonly #on = signal(true);
  readonly #now: () => number;
  #first: { readonly key: string; readonly at: number } | undefined;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  get list(): ReadonlySignal<readonly Shortcut[]> {
    return this.#list;
  }

  get on(): ReadonlySignal<boolean> {
    return this.#on;
  }

  turn(on: boolean): void {
    this.#on.value = on;
  }

  /** Adds some until the returned function is called; of the same keys the last ones count. */
  add(shortcuts: readonly Shortcut[]): () => void {
    this.#list.value = [...this.#list.peek(), ...shortcuts];
    return () => {
      this.#list.value = this.#list.peek().filter((each) => !shortcuts.includes(each));
    };
  }

  /** Does what a key stands for. Returns whether it was one. */
  press(key: string): boolean {
    if (!this.#on.peek()) return false;
    const first = this.#first;
    this.#first = undefined;
    const now = this.#now();
    const both = first !== undefined && now - first.at < pauseBetween ? this.#find(`${first.key} ${key}`) : undefined;
    const found = both ?? this.#find(key);
    if (found !== undefined) {
      found.act();
      return true;
    }
    if (this.#list.peek().some(({ keys }) => keys.startsWith(`${key} `))) this.#first = { key, at: now };
    return false;
  }

  /** Hears the keys of a window. */
  listenTo(window: Pick<Window, "addEventListener">): void {
    window.addEventListener("keydown", (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (takesKeys(event.target)) return;
      if (this.press(event.key)) event.preventDefault();
    });
  }

  #find(keys: string): Shortcut | undefined {
    return this.#list.peek().findLast((each) => each.keys === keys);
  }
}

/** Whether what is typed there belongs to it. */
function takesKeys(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  return target.closest("input, select, textarea, dialog, [contenteditable]") !== null;
}

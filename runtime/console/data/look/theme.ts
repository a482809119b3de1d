import { signal, type ReadonlySignal } from "@preact/signals";

/** Light, dark, or what the system says. */
export const themeChoices = ["system", "light", "dark"] as const;
export type ThemeChoice = (typeof themeChoices)[number];

const storedAs = "weir-theme";

/** How the page looks; kept for the next visit. */
export class PageTheme {
  readonly #choice;
  readonly #store: Storage;
  readonly #root: HTMLElement;

  constructor(store: Storage, root: HTMLElement) {
    this.#store = store;
    this.#root = root;
    const stored = store.getItem(storedAs);
    this.#choice = signal<ThemeChoice>(themeChoices.find((choice) => choice === stored) ?? "system");
    this.#apply();
  }

  get choice(): ReadonlySignal<ThemeChoice> {
    return this.#choice;
  }

  choose(choice: ThemeChoice): void {
    this.#choice.value = choice;
    if (choice === "system") this.#store.removeItem(storedAs);
    else this.#store.setItem(storedAs, choice);
    this.#apply();
  }

  #apply(): void {
    const choice = this.#choice.peek();
    if (choice === "system") delete this.#root.dataset["theme"];
    else this.#root.dataset["theme"] = choice;
  }
}

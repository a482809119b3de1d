import type { PageAddressParts } from "../../../runtime/console/data/address/page-address.ts";

/** A window whose history is a list. */
export function historyWindow(target: string) {
  const entries: { href: string; state: unknown }[] = [{ href: new URL(target, "http://console/").href, state: null }];
  let index = 0;
  const listeners = new Map<string, (event: never) => void>();
  const put = (at: number, state: unknown, to: string | undefined): void => {
    const href = to === undefined ? (entries[index]?.href ?? "") : new URL(to, entries[index]?.href).href;
    index = at;
    entries.splice(at, entries.length, { href, state });
  };
  const replace = (state: unknown, to: string | undefined): void => {
    const href = to === undefined ? (entries[index]?.href ?? "") : new URL(to, entries[index]?.href).href;
    entries[index] = { href, state };
  };
  const made = {
    scrollY: 0,
    get location() {
      return new URL(entries[index]?.href ?? "");
    },
    history: {
      scrollRestoration: "auto",
      get state() {
        return entries[index]?.state;
      },
      pushState: (state: unknown, _title: string, to?: string) => put(index + 1, state, to),
      replaceState: (state: unknown, _title: string, to?: string) => replace(state, to),
    },
    addEventListener: (name: string, listener: (event: never) => void) => void listeners.set(name, listener),
  };
  return {
    made: made as unknown as PageAddressParts["window"],
    scrollTo: (y: number) => {
      made.scrollY = y;
      listeners.get("scrollend")?.({} as never);
    },
    back: () => {
      index--;
      listeners.get("popstate")?.({ state: entries[index]?.state } as never);
    },
    count: () => entries.length,
    href: () => entries[index]?.href,
  };
}

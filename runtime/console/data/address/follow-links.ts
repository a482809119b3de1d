import type { PageAddress } from "./page-address.ts";

/** Below it are the pages of the console. */
export const consoleBase = "/ui/";

/**
 * Makes links to pages of the console change the page instead of loading it: those without a modifier, a target and a
 * download, as they stand below `root`.
 */
export function followLinks(root: HTMLElement, address: PageAddress): void {
  root.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || !link.href || link.target !== "" || link.hasAttribute("download")) return;
    const { origin, pathname, search, hash } = new URL(link.href);
    if (origin !== location.origin || !pathname.startsWith(consoleBase)) return;
    // A part of this page: the browser scrolls to it.
    if (hash !== "" && pathname === location.pathname && search === location.search) return;
    event.preventDefault();
    address.go(`${pathname}${search}${hash}`);
  });
}

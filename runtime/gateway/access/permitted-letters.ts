import { permitted, type Principal } from "../../core/access/principal.ts";
import type { DeadLetterStore, StoredDeadLetter } from "../../core/ports/dead-letters.ts";
import { listAction, resourceOf } from "./function-callers.ts";

/** Most letters that are read a second time, when the sender may see none of the first. */
const largePage = 1_000;

/**
 * The dead letters of functions that `principal` may list, and those that name no function. A page costs the store two
 * pages at most: it may hold fewer letters than its limit, or none, and have a next one.
 */
export function permittedLetters(store: DeadLetterStore, principal: Principal): DeadLetterStore {
  if (principal.grants === "everything") return store;
  const isVisible = ({ function: ref }: Pick<StoredDeadLetter, "function">): boolean =>
    ref === undefined || permitted(principal, { action: listAction, resource: resourceOf(ref) }).allowed;
  return {
    async list(queue, after, limit) {
      let page = await store.list(queue, after, limit);
      const hidden = page.letters.at(-1);
      if (page.more && hidden !== undefined && !page.letters.some(isVisible)) {
        page = await store.list(queue, hidden.position, largePage);
      }
      const visible = page.letters.filter(isVisible);
      const letters = visible.slice(0, limit);
      const more = page.more || letters.length < visible.length;
      // Whatever was read and is not to be seen is not read again.
      const last = letters.length < visible.length ? letters.at(-1) : page.letters.at(-1);
      return { letters, more, next: (last ?? hidden)?.position };
    },
    find: async (queue, id) => (await store.find(queue, id)).filter(isVisible),
    remove: (letter) => store.remove(letter),
    count: (queue) => store.count(queue),
  };
}

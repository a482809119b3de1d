import { permitted, type Principal } from "../../core/access/principal.ts";
import type { DeadLetterStore, StoredDeadLetter } from "../../core/ports/dead-letters.ts";
import { listAction, resourceOf } from "./function-callers.ts";

/** Most letters that are read at once while none of those before was to be seen. */
const largePage = 1_000;

/** The dead letters of functions that `principal` may list, and those that name no function. */
export function permittedLetters(store: DeadLetterStore, principal: Principal): DeadLetterStore {
  if (principal.grants === "everything") return store;
  const isVisible = ({ function: ref }: Pick<StoredDeadLetter, "function">): boolean =>
    ref === undefined || permitted(principal, { action: listAction, resource: resourceOf(ref) }).allowed;
  return {
    async list(queue, after, limit) {
      let page = await store.list(queue, after, limit);
      for (;;) {
        const letters = page.letters.filter(isVisible);
        const last = page.letters.at(-1);
        if (letters.length > 0 || !page.more || last === undefined) {
          return { letters: letters.slice(0, limit), more: page.more || letters.length > limit };
        }
        page = await store.list(queue, last.position, largePage);
      }
    },
    find: async (queue, id) => (await store.find(queue, id)).filter(isVisible),
    remove: (letter) => store.remove(letter),
    count: (queue) => store.count(queue),
  };
}

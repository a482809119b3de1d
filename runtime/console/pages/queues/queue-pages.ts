import type { Pages } from "../../page-table.ts";
import { LettersPage } from "./letters/letters-page.tsx";
import { QueuePage } from "./queue-page.tsx";
import { QueuesPage } from "./queues-page.tsx";

/** The pages of queues and of what they gave up. */
export const queuePages: Pages = { list: QueuesPage, queue: QueuePage, letters: LettersPage };

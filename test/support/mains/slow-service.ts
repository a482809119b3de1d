import { createLog } from "../../../runtime/process/log.ts";
import { runService } from "../../../runtime/process/run-service.ts";

/** A process whose closing never ends by itself, and that writes its steps to stdout. */
const say = (line: string): void => void process.stdout.write(`${line}\n`);

await runService({
  log: createLog("slow", "silent"),
  drainTimeout: () => 600_000,
  onStop: () => say("waiting"),
  open: async (lifecycle) => {
    // Keeps the process alive.
    const alive = setInterval(() => {}, 1_000);
    lifecycle.onClose("the last call", () => new Promise(() => {}));
    lifecycle.onEndNow("lock", () => {
      clearInterval(alive);
      say("lock gone");
    });
    lifecycle.onEndNow("what fails", () => Promise.reject(new Error("cannot end")));
    lifecycle.onEndNow("child", () => say("child gone"));
    say("ready");
  },
});

import { historySwitch } from "../../../runtime/settings/history-settings.ts";
import { text, type Setting } from "../../../runtime/settings/setting.ts";
import { databaseFacts, type DatabaseFacts } from "./database-address.ts";
import { sizeRule } from "../sizes.ts";

/** Options of the history of calls. */
export const historyOptions = {
  history: historySwitch.history,
  historyStorage: text("historyStorage", {
    fallback: "5Gi",
    about: "Disk of the history of calls, unless it has a database; of the class nats.storageClass",
    rule: sizeRule,
  }),
  historyDatabase: databaseOption(),
};

function databaseOption(): Setting<DatabaseFacts | undefined> {
  return {
    name: "historyDatabase",
    about:
      "Address of a PostgreSQL database for the history of calls, with user and password: it then has two pods, and no disk",
    kind: "address",
    optional: true,
    show: () => "[secret]",
    parse: (given) => {
      const facts = given === "" ? undefined : databaseFacts(given);
      return facts !== undefined && "expected" in facts ? facts : { value: facts };
    },
  };
}

import { formatDuration } from "../api/duration.ts";

/** A check that no single setting can make, such as for two that contradict each other. */
export interface SettingRule<V> {
  /** Keys of the values it checks; it is skipped if one of them could not be read. */
  readonly needs: readonly (keyof V & string)[];
  /** The rule in one sentence, for `docs/reference/settings.md`. */
  readonly sentence: string;
  /** Its violations, each beginning with the name of a setting. */
  readonly problems: (values: V) => readonly string[];
}

/** A duration that may not be longer than another. */
export function notAbove<L extends string, U extends string>(
  lower: L,
  upper: U,
): SettingRule<Readonly<Record<L | U, number>>> {
  return {
    needs: [lower, upper],
    sentence: `\`${settingNameOf(lower)}\` is at most \`${settingNameOf(upper)}\`.`,
    problems: (values) =>
      values[lower] <= values[upper]
        ? []
        : [
            `${settingNameOf(lower)}: expected at most ${settingNameOf(upper)} (${formatDuration(values[upper])}), ` +
              `got "${formatDuration(values[lower])}"`,
          ],
  };
}

/** The ports that one process listens on must differ, unless 0, which is any free one. */
export function differentPorts<K extends string>(keys: readonly K[]): SettingRule<Readonly<Record<K, number>>> {
  return {
    needs: keys,
    sentence: `${keys.map((key) => `\`${settingNameOf(key)}\``).join(", ")} are different ports, unless 0.`,
    problems: (values) =>
      keys.flatMap((key, index) => {
        const earlier = keys.slice(0, index).find((other) => values[other] === values[key]);
        return earlier === undefined || values[key] === 0
          ? []
          : [`${settingNameOf(key)}: expected another port than ${settingNameOf(earlier)}, got "${values[key]}"`];
      }),
  };
}

/** The name of the setting that a table holds under `key`. */
export function settingNameOf(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

import { InvalidArgumentError } from "commander";

/**
 * The value of an option that counts.
 * @throws InvalidArgumentError when it is no whole number from 1 on
 */
export function positive(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError("it must be a whole number from 1 on");
  return number;
}

import { shellWord } from "../words/shell-word.ts";

/** The gateway that `weir` speaks to when nothing names one. */
const usualAddress = "http://127.0.0.1:8080";

/** A `weir` command for the gateway at `address`: it is named unless it is the one that `weir` speaks to by itself. */
export function gatewayCommand(command: string, address: string): string {
  return address === "" || address === usualAddress ? command : `${command} --gateway ${shellWord(address)}`;
}

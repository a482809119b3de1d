import { connect } from "node:net";

/** Milliseconds; a program that is stopped accepts nothing. */
const connectTimeout = 2_000;

/** Whether a program listens at this address of this machine. */
export async function isListening(address: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(address);
  const host = hostname.replaceAll(/[[\]]/g, "");
  const number = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
  const socket = connect({ host, port: number, timeout: connectTimeout });
  try {
    return await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
      socket.once("timeout", () => resolve(true));
    });
  } finally {
    socket.destroy();
  }
}

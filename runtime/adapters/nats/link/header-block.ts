import { InvalidArgumentError, MsgHdrsImpl, type MsgHdrs } from "@nats-io/transport-node";

const lineEnd = /[\r\n]/;

/** Headers of an outgoing message, in the order of addition. The client's own search all of them for each addition. */
export class HeaderBlock {
  readonly #lines: string[] = ["NATS/1.0"];

  /**
   * Appends a header; a name that is added twice is sent twice.
   * @throws InvalidArgumentError when the value holds a line end
   */
  add(name: string, value: string): void {
    if (lineEnd.test(value)) throw InvalidArgumentError.format("header", "values cannot contain \\r or \\n");
    this.#lines.push(`${name}: ${value}`);
  }

  /** The bytes to send. */
  encode(): Uint8Array {
    return Buffer.from(`${this.#lines.join("\r\n")}\r\n\r\n`);
  }

  /** The headers as a receiver reads them. */
  decoded(): MsgHdrs {
    return MsgHdrsImpl.decode(this.encode());
  }
}

/** Carries the headers of one publish after another: the client needs only their bytes, and only until it returns. */
export class HeaderCarrier extends MsgHdrsImpl {
  #bytes: Uint8Array = new Uint8Array(0);

  /** What to pass to the client to send `headers` now. */
  carry(headers: MsgHdrs | HeaderBlock): MsgHdrs {
    if (!(headers instanceof HeaderBlock)) return headers;
    this.#bytes = headers.encode();
    return this;
  }

  override encode(): Uint8Array {
    return this.#bytes;
  }
}

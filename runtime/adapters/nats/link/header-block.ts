import { InvalidArgumentError, MsgHdrsImpl, type MsgHdrs } from "@nats-io/transport-node";

const lineEnd = /[\r\n]/;

/** Headers of one message to be sent, in the order they were added; the client's own look through all for each one more. */
export class HeaderBlock {
  readonly #lines: string[] = ["NATS/1.0"];

  /**
   * One more header; a name that is there already is there twice.
   * @throws InvalidArgumentError when the value holds a line end
   */
  add(name: string, value: string): void {
    if (lineEnd.test(value)) throw InvalidArgumentError.format("header", "values cannot contain \\r or \\n");
    this.#lines.push(`${name}: ${value}`);
  }

  /** As it is sent. */
  encode(): Uint8Array {
    return Buffer.from(`${this.#lines.join("\r\n")}\r\n\r\n`);
  }

  /** As it is received. */
  decoded(): MsgHdrs {
    return MsgHdrsImpl.decode(this.encode());
  }
}

/** Stands for the headers of one publish after another: the client wants nothing but their bytes, before it returns. */
export class HeaderCarrier extends MsgHdrsImpl {
  #bytes: Uint8Array = new Uint8Array(0);

  /** What the client must be given to send `headers` now. */
  carry(headers: MsgHdrs | HeaderBlock): MsgHdrs {
    if (!(headers instanceof HeaderBlock)) return headers;
    this.#bytes = headers.encode();
    return this;
  }

  override encode(): Uint8Array {
    return this.#bytes;
  }
}

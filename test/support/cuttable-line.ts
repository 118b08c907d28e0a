/** A TCP line on this machine that a test can cut and mend: what connects to it is passed on to a port, or refused. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export class CuttableLine implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #target: number;
  #isCut = false;
  /** When connections were asked for, those that were refused among them; milliseconds since the epoch. */
  readonly attempts: number[] = [];

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.#target = target;
    server.on('connection', (socket) => this.#join(socket));
  }

  static async to(target: number): Promise<CuttableLine> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new CuttableLine(server, target);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(target = this.#target): void {
    this.#target = target;
    this.#isCut = false;
  }

  #join(near: Socket): void {
    this.attempts.push(Date.now());
    if (this.#isCut) {
      near.destroy();
      return;
    }
    const far = connect(this.#target, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.pipe(other);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

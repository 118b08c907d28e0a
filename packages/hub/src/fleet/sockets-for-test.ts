// For tests: two ends of one WebSocket in this process.
import type { AddressInfo } from 'node:net';
import WebSocket, { WebSocketServer } from 'ws';

export class TestSockets {
  readonly #server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  readonly #opened: WebSocket[] = [];

  /** `near` accepted, `far` connected. */
  async pair(): Promise<{ readonly near: WebSocket; readonly far: WebSocket }> {
    if (this.#server.address() === null)
      await new Promise<void>((resolve) => this.#server.once('listening', resolve));
    const { port } = this.#server.address() as AddressInfo;
    const accepted = new Promise<WebSocket>((resolve) => this.#server.once('connection', resolve));
    const far = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
    this.#opened.push(far);
    await new Promise<void>((resolve, reject) => far.once('open', resolve).once('error', reject));
    const near = await accepted;
    this.#opened.push(near);
    return { near, far };
  }

  async close(): Promise<void> {
    for (const webSocket of this.#opened) webSocket.terminate();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

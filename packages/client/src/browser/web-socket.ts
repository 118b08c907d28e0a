/** What a line needs of a WebSocket: those of browsers and of `ws` have it. */
export interface WebSocketLike {
  binaryType: string;
  /** Bytes that were given to `send` and are still here. */
  readonly bufferedAmount: number;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(): void;
  addEventListener(type: string, listener: (event: { readonly data?: unknown }) => void): void;
  removeEventListener(type: string, listener: (event: { readonly data?: unknown }) => void): void;
}

export type OpenWebSocket = (url: string) => WebSocketLike;

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Stands between a client and a TCP server, and misbehaves as networks and poolers do. */
export interface TcpProxy {
  /** The given URL, with this proxy as its host. */
  through(url: string): string;
  /** When each connection was tried whose first packet matches, by `performance.now()`. */
  knocks(firstPacket: RegExp): number[];
  /** How many of those that are open now match. */
  open(firstPacket: RegExp): number;
  /**
   * What is open now and matches passes nothing on any more, in either direction, and is not closed either; a client
   * that ends it is answered, or, when the network is `dead`, is not.
   */
  swallow(firstPacket: RegExp, network?: 'dead'): void;
  /** As `swallow`, but only for packets of the server that begin with this byte, here and on later connections. */
  swallowFrames(firstByte: string | undefined): void;
  /** Ends what matches at once, now and later, until it is told undefined. */
  refuse(firstPacket: RegExp | undefined): void;
  /** Keeps the next packet of a client that matches, and everything behind it, until it is let go. */
  holdBack(packet: RegExp): { readonly held: Promise<void>; letGo(): void };
  close(): Promise<void>;
}

interface Line {
  readonly client: Socket;
  readonly server: Socket;
  firstPacket: string;
  isSwallowed: boolean;
  isDead: boolean;
}

export async function startTcpProxy(targetUrl: string): Promise<TcpProxy> {
  const target = new URL(targetUrl);
  const lines = new Set<Line>();
  const seen: { readonly packet: string; readonly at: number }[] = [];
  let refused: RegExp | undefined;
  let swallowedByte: string | undefined;
  let hold: { packet: RegExp; gate: Promise<void>; reached: () => void } | undefined;

  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const line: Line = { client, server: upstream, firstPacket: '', isSwallowed: false, isDead: false };
    lines.add(line);
    const hangUp = (): void => {
      lines.delete(line);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on('error', hangUp).on('close', hangUp);
    client.on('end', () => line.isDead || hangUp());

    let sent = Promise.resolve();
    client.on('data', (packet: Buffer) => {
      const text = packet.toString('latin1');
      if (line.firstPacket === '') {
        line.firstPacket = text;
        seen.push({ packet: text, at: performance.now() });
      }
      if (refused?.test(line.firstPacket)) return hangUp();
      if (line.isSwallowed) return;
      if (hold?.packet.test(text)) {
        const { gate, reached } = hold;
        hold = undefined;
        sent = sent.then(() => gate);
        reached();
      }
      sent = sent.then(() => void (upstream.destroyed || upstream.write(packet)));
    });
    upstream.on('data', (packet: Buffer) => {
      if (!line.isSwallowed && String.fromCharCode(packet[0] ?? 0) !== swallowedByte) client.write(packet);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const matching = (firstPacket: RegExp): Line[] => [...lines].filter((line) => firstPacket.test(line.firstPacket));

  return {
    through(url) {
      const proxied = new URL(url);
      proxied.hostname = '127.0.0.1';
      proxied.port = String(port);
      return proxied.href;
    },
    knocks: (firstPacket) => seen.filter(({ packet }) => firstPacket.test(packet)).map(({ at }) => at),
    open: (firstPacket) => matching(firstPacket).length,
    swallow(firstPacket, network) {
      for (const line of matching(firstPacket)) {
        line.isSwallowed = true;
        line.isDead = network === 'dead';
      }
    },
    swallowFrames(firstByte) {
      swallowedByte = firstByte;
    },
    refuse(firstPacket) {
      refused = firstPacket;
      if (firstPacket === undefined) return;
      for (const line of matching(firstPacket)) line.client.destroy();
    },
    holdBack(packet) {
      let letGo = (): void => undefined;
      const gate = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      const held = new Promise<void>((reached) => {
        hold = { packet, gate, reached };
      });
      return { held, letGo };
    },
    async close() {
      for (const { client } of lines) client.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

import { request } from 'node:http';
import {
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  Module,
  type NestInterceptor,
  ValidationPipe,
  VersioningType,
} from '@nestjs/common';
import { ConfigurationError, OperationLogService } from 'nestjs-transactional-outbox';
import { OutboxDashboardModule } from 'nestjs-transactional-outbox/dashboard';
import { map, type Observable } from 'rxjs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type DashboardApp, type DashboardAppOptions, PLATFORMS, startDashboardApp } from './dashboard-app.js';

@Injectable()
class Keys {
  readonly key = 'let me in';
}

@Module({ providers: [Keys], exports: [Keys] })
class KeysModule {}

/** Asks a provider of the application, as a user's guard does. */
@Injectable()
class KeyGuard implements CanActivate {
  constructor(private readonly keys: Keys) {}

  canActivate(context: ExecutionContext): boolean {
    return context.switchToHttp().getRequest().headers['x-key'] === this.keys.key;
  }
}

/** What many an application does with all of its answers. */
class Envelope implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data: unknown) => ({ data })));
  }
}

const PAUSE = { destination: 'shipping', by: 'anna', reason: 'the receiver moves' };

describe('mounting the dashboard', () => {
  afterEach(() => vi.unstubAllEnvs());

  it.each(['production', 'staging', undefined])('is refused without a guard when NODE_ENV is %s', (environment) => {
    vi.stubEnv('NODE_ENV', environment);
    const mount = (): unknown => OutboxDashboardModule.forRoot({ path: 'outbox', guards: [] });
    expect(mount).toThrow(ConfigurationError);
    expect(mount).toThrow('Give OutboxDashboardModule.forRoot({ guards: [...] })');
    expect(OutboxDashboardModule.forRoot({ path: 'outbox', guards: [KeyGuard] }).controllers).not.toHaveLength(0);
  });

  it.each(['development', 'test'])('needs no guard when NODE_ENV is %s', (environment) => {
    vi.stubEnv('NODE_ENV', environment);
    expect(OutboxDashboardModule.forRoot({ path: '/outbox/' }).controllers).not.toHaveLength(0);
  });

  it.each(['', '/', ':tenant/outbox', 'outbox?', '../outbox', 'out box'])('is refused at the path "%s"', (path) => {
    expect(() => OutboxDashboardModule.forRoot({ path })).toThrow(ConfigurationError);
  });

  it('is refused with an origin that is none', () => {
    const allowedOrigins = ['https://admin.example.com/outbox'];
    expect(() => OutboxDashboardModule.forRoot({ path: 'outbox', allowedOrigins })).toThrow('no origin');
  });
});

describe.each(PLATFORMS)('the dashboard on %s', (platform) => {
  /** Without options, for the tests that need none. */
  let plain: DashboardApp;
  let app: DashboardApp;
  const start = async (options: DashboardAppOptions): Promise<void> => {
    app = await startDashboardApp({ platform, ...options });
  };
  beforeAll(async () => {
    plain = await startDashboardApp({ platform });
  });
  beforeEach(() => {
    app = plain;
  });
  afterEach(async () => {
    if (app !== plain) await app.close();
    else await plain.database.query('update outbox_destination set paused_at = null');
  });
  afterAll(() => plain.close());

  const pausedBy = async (): Promise<unknown[]> =>
    (await app.database.query('select paused_by from outbox_destination where paused_at is not null')).map(
      ({ paused_by }) => paused_by,
    );
  const refused = async (answer: Promise<Response>, status: number): Promise<string> => {
    const response = await answer;
    expect(response.status).toBe(status);
    expect(await pausedBy()).toEqual([]);
    return response.text();
  };

  it('lets nobody through whom the guard keeps out, to the page, its files, its data or its acts', async () => {
    await start({ dashboard: { guards: [KeyGuard], imports: [KeysModule] } });
    for (const path of ['', '/assets/app.js', '/api/overview', '/api/dead-letters', '/api/operations']) {
      expect((await fetch(app.url + path)).status, path).toBe(403);
    }
    await refused(app.post('destinations/pause', PAUSE), 403);
    expect((await fetch(app.url, { headers: { 'x-key': 'let me in' } })).status).toBe(200);
    expect((await app.post('destinations/pause', PAUSE, { 'x-key': 'let me in' })).status).toBe(200);
    expect(await pausedBy()).toEqual(['anna']);
  });

  it('refuses a change without its header, with another content type, or from another site', async () => {
    const { host, origin } = new URL(app.url);
    const why = await refused(app.post('destinations/pause', PAUSE, { 'x-outbox-dashboard': '' }), 403);
    expect(why).toContain('x-outbox-dashboard: 1');
    await refused(app.post('destinations/pause', PAUSE, { 'sec-fetch-site': 'cross-site', origin }), 403);
    await refused(app.post('destinations/pause', PAUSE, { 'sec-fetch-site': 'same-site', origin }), 403);
    await refused(app.post('destinations/pause', PAUSE, { 'sec-fetch-site': 'none' }), 403);
    await refused(app.post('destinations/pause', PAUSE, { origin: 'https://evil.example' }), 403);
    await refused(app.post('destinations/pause', PAUSE, { origin: 'null' }), 403);
    await refused(app.post('destinations/pause', PAUSE, { 'content-type': 'text/plain' }), 403);
    const spoofed = { origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' };
    await refused(app.post('destinations/pause', PAUSE, spoofed), 403);
    expect((await app.post('destinations/pause', PAUSE, { origin: `http://${host}` })).status).toBe(200);
    expect(await pausedBy()).toEqual(['anna']);
  });

  it('refuses to show data to a script of another site, though a link may lead to the page', async () => {
    const fromElsewhere = { headers: { 'sec-fetch-site': 'cross-site' } };
    expect((await fetch(`${app.url}/api/overview`, fromElsewhere)).status).toBe(403);
    expect((await fetch(app.url, fromElsewhere)).status).toBe(200);
  });

  it('takes changes from an origin that is named, where a proxy replaces Host', async () => {
    await start({ dashboard: { allowedOrigins: ['https://admin.example.com'] } });
    await refused(app.post('destinations/pause', PAUSE, { origin: 'http://admin.example.com' }), 403);
    expect((await app.post('destinations/pause', PAUSE, { origin: 'https://admin.example.com' })).status).toBe(200);
  });

  it('writes down whom the application knows, not whom the request names', async () => {
    await start({ dashboard: { operator: (incoming) => nameOf(incoming) } });
    expect((await app.post('destinations/pause', PAUSE, { 'x-user': 'ben' })).status).toBe(200);
    expect(await pausedBy()).toEqual(['ben']);
    expect((await app.post('destinations/resume', PAUSE)).status).toBe(403);
  });

  it('sends headers that keep foreign code, frames and caches away', async () => {
    for (const path of ['', '/assets/app.js', '/api/overview']) {
      const { headers } = await fetch(app.url + path);
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/);
      expect(headers.get('content-security-policy')).not.toContain('unsafe');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe(path.startsWith('/api') ? 'no-store' : 'private, no-cache');
    }
  });

  it('serves its own files and no other', async () => {
    for (const path of ['index.html', '..%2findex.js', '../page-files.js', '%2e%2e/index.ts', 'constructor']) {
      expect((await fetchRaw(`${app.url}/assets/`, path)).status, path).toBe(404);
    }
    const style = await fetch(`${app.url}/assets/style.css`);
    expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8');
  });

  it('refuses input that is not what it must be, and says why', async () => {
    const ask = async (path: string, body: unknown): Promise<string> => {
      const response = await app.post(path, body);
      expect([400, 404, 409], path).toContain(response.status);
      return ((await response.json()) as { message: string }).message;
    };
    const written = (): Promise<unknown> => app.app.get(OperationLogService).list();
    const before = await written();
    const change = { by: 'anna', reason: 'tried it' };
    expect(await ask('destinations/pause', [])).toContain('JSON object');
    expect(await ask('destinations/pause', { ...PAUSE, destination: 'nowhere' })).toContain('no destination');
    expect(await ask('destinations/pause', { ...PAUSE, reason: '  ' })).toContain('"reason" is missing');
    expect(await ask('destinations/resume', PAUSE)).toContain('not paused');
    expect(await ask('dead-letters/redrive', { ...change, atMost: 1 })).toContain('empty filter');
    expect(await ask('dead-letters/redrive', { ...change, ids: ['1'] })).toContain('"atMost" is missing');
    expect(await ask('dead-letters/discard', { ...change, atMost: 1, ids: ['1'] })).toContain('Nothing matches');
    expect(await ask('dead-letters/discard', { ...change, atMost: 1, typ: 'x' })).toContain('"typ" is not known');
    expect(await ask('dead-letters/count', { ids: ['1; drop table'] })).toContain('list of 1 to');
    expect(await ask('dead-letters/count', { createdAfter: 'yesterday' })).toContain('must be a time');
    expect(await ask('dead-letters/count', { type: { $gt: '' } })).toContain('must be text');
    expect(await ask('blocked-keys/release', { ...change, destination: 'shipping' })).toContain('is missing');
    expect(await ask('replay/preview', {})).toContain('empty filter');
    expect(await ask('replay', { ...change, type: 'nothing', atMost: 5 })).toContain('Nothing matches');
    expect(await ask('replay/stop', {})).toContain('No replay runs');
    expect(await ask('inbox/discard', { ...change, ids: ['1'] })).toContain('no inbox');
    expect((await fetch(`${app.url}/api/dead-letters/7`)).status).toBe(404);
    expect((await fetch(`${app.url}/api/dead-letters/x`)).status).toBe(400);
    expect((await fetch(`${app.url}/api/dead-letters?limit=100000`)).status).toBe(400);
    expect(await written()).toEqual(before);
  });

  it('works below a global prefix and versions, beside pipes and interceptors of the application', async () => {
    await start({
      prefix: '/internal/api',
      prepare: (nest) => {
        nest.setGlobalPrefix('internal/api');
        nest.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
        nest.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }));
        nest.useGlobalInterceptors(new Envelope());
      },
    });
    const html = await (await fetch(`${app.url}?from=the-runbook`)).text();
    expect(html).toContain('src="./outbox/assets/app.js"');
    expect((await fetch(new URL('./outbox/assets/app.js', app.url))).status).toBe(200);
    expect(await (await fetch(`${app.url}/api/overview`)).json()).toHaveProperty('destinations');
    expect((await app.post('destinations/pause', PAUSE)).status).toBe(200);
  });
});

function nameOf(incoming: unknown): string {
  const { headers } = incoming as { headers: Record<string, string | undefined> }; // both platforms have them
  return headers['x-user'] ?? '';
}

/** Sends the path as it is; fetch would tidy it up. */
function fetchRaw(base: string, path: string): Promise<{ status: number }> {
  const { hostname, port, pathname } = new URL(base);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path: pathname + path }, (response) => {
      response.resume().once('end', () => resolve({ status: response.statusCode ?? 0 }));
    })
      .once('error', reject)
      .end();
  });
}

import { Injectable } from '@nestjs/common';
import { expect, it } from 'vitest';

class Dependency {}

@Injectable()
class Service {
  declared?: string;

  constructor(readonly dependency: Dependency) {}
}

// Tests compile with another compiler than the published library; what both must agree on stands here.

it('the test compiler emits the constructor types that Nest injects by', () => {
  expect(Reflect.getMetadata('design:paramtypes', Service)).toEqual([Dependency]);
});

it('the test compiler defines declared fields, as the build does', () => {
  expect(Object.keys(new Service(new Dependency()))).toContain('declared');
});

// NestJS, TypeORM and class-validator read what decorators wrote through this polyfill.
import 'reflect-metadata';
import { afterAll } from 'vitest';
import { endAllChildren } from './child-process.js';

// For each file: several share a process, in which a module is loaded once.
afterAll(() => endAllChildren());

// NestJS, TypeORM and class-validator read what decorators wrote through this polyfill.
import 'reflect-metadata';

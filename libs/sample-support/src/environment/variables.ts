import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsIn, IsInt, Matches, Max, Min } from 'class-validator';

// The variables that every application reads. Decorators and not a base class: the problems are reported in the order
// in which a class declares its properties, and inherited ones would come last.

/** `skip` where another process, or a person with rights that this one lacks, migrates the database. */
export type MigrationMode = 'run' | 'skip';

const PORT_RULE = { message: 'PORT must be a whole number from 0 (any free port) to 65535.' };

export function IsDatabaseUrl(exampleName: string): PropertyDecorator {
  return Matches(/^postgres(ql)?:\/\/./, {
    message: `DATABASE_URL must name a PostgreSQL database, for example postgres://user:password@127.0.0.1:5432/${exampleName}.`,
  });
}

export function IsPortNumber(): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }) => Number(value)),
    IsInt(PORT_RULE),
    Min(0, PORT_RULE),
    Max(65_535, PORT_RULE),
  );
}

export function IsMigrationMode(): PropertyDecorator {
  return IsIn(['run', 'skip'], { message: 'MIGRATIONS must be run or skip.' });
}

import { BadRequestException } from '@nestjs/common';

const LONGEST_TEXT = 255;
const MOST_IDS = 1000;

/** The fields of a body or query that was sent; each is read once, as what it must be. */
export class Fields {
  private constructor(private readonly values: Readonly<Record<string, unknown>>) {}

  /** @throws BadRequestException for what is no object, and for a field that is not known: a typing error must not widen a filter. */
  static of(given: unknown, known: readonly string[]): Fields {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      throw new BadRequestException('Send a JSON object, with content-type application/json.');
    }
    const unknown = Object.keys(given).find((name) => !known.includes(name));
    if (unknown !== undefined) {
      throw new BadRequestException(`${JSON.stringify(unknown)} is not known here. Known are: ${known.join(', ')}.`);
    }
    return new Fields({ ...given });
  }

  /** A text, without blanks around it; undefined when it is missing or empty. */
  text(name: string, longest = LONGEST_TEXT): string | undefined {
    const value = this.values[name];
    if (value === undefined || value === null || value === '') return undefined;
    if (typeof value !== 'string' || value.length > longest || value.includes('\u0000')) {
      throw new BadRequestException(`"${name}" must be text of at most ${longest} characters.`);
    }
    return value.trim() === '' ? undefined : value.trim();
  }

  requiredText(name: string, longest = LONGEST_TEXT): string {
    const value = this.text(name, longest);
    if (value === undefined) throw new BadRequestException(`"${name}" is missing.`);
    return value;
  }

  ids(name: string): readonly string[] | undefined {
    const value = this.values[name];
    if (value === undefined) return undefined;
    if (!Array.isArray(value) || value.length === 0 || value.length > MOST_IDS || !value.every(isId)) {
      throw new BadRequestException(`"${name}" must be a list of 1 to ${MOST_IDS} ids.`);
    }
    return value;
  }

  /** Also from a query, where a number is text. */
  wholeNumber(name: string, min: number, max: number): number | undefined {
    const value = this.values[name];
    if (value === undefined || value === null || value === '') return undefined;
    const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < min || number > max) {
      throw new BadRequestException(`"${name}" must be a whole number from ${min} to ${max}.`);
    }
    return number;
  }

  requiredNumber(name: string, min: number, max: number): number {
    const value = this.wholeNumber(name, min, max);
    if (value === undefined) throw new BadRequestException(`"${name}" is missing.`);
    return value;
  }

  date(name: string): Date | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const date = new Date(text);
    if (!/^\d{4}-\d\d-\d\dT/.test(text) || Number.isNaN(date.getTime())) {
      throw new BadRequestException(`"${name}" must be a time such as 2030-01-31T12:00:00Z.`);
    }
    return date;
  }
}

/** An id is a number of the database, or a UUID. */
function isId(value: unknown): value is string {
  return typeof value === 'string' && /^(\d{1,18}|[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12})$/i.test(value);
}

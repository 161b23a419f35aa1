export const timingsFile: string
export function findTestFiles(): string[]
export function isSlow(file: string): boolean
export function isProperty(file: string): boolean
export function divide(files: string[], count: number): string[][]
export function readTimings(): Record<string, number>

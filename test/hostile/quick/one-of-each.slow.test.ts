import { play } from './play.ts'

play('b1', 'c1', 'd1', 'f1', 'h1', 'n1')

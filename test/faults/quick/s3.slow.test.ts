import { play } from './play.ts'

play('F42a')

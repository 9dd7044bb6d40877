/**
 * Why a wait is ended by its beginner, as the reason of an abort: without one an error with a stack is made, which costs
 * more than all else about a short wait.
 */
export const WAIT_OVER = Symbol('the wait is over');

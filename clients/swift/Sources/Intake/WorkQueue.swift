import Dispatch

/// Runs the jobs of an actor on a queue of its own: they wait for files, which the threads of other
/// actors should not.
final class WorkQueue: SerialExecutor {
  private let queue = DispatchQueue(label: "intake", qos: .utility)

  func enqueue(_ job: UnownedJob) {
    let executor = asUnownedSerialExecutor()
    queue.async { job.runSynchronously(on: executor) }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }
}

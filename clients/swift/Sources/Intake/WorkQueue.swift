import Dispatch

/// Runs the jobs of an actor on a separate queue: the jobs wait for files, and must not block the
/// threads of other actors.
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

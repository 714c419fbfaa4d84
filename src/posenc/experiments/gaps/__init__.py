"""What are true times worth where steps were lost?"""
